import texts from "../texts.json";

export default texts["sourdough"];
