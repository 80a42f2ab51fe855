import { mount } from "svelte";
import Details from "./Details.svelte";
import Hidden from "./Hidden.svelte";
import Infinite from "./Infinite.svelte";
import Loaded from "./Loaded.svelte";
import Modal from "./Modal.svelte";
import "./Reader.svelte";
import Typed from "./Typed.svelte";

const PAGES = {
  "svelte-await": Loaded, "svelte-infinite": Infinite, "svelte-typing": Typed, "svelte-details": Details,
  "svelte-modal": Modal, "svelte-hidden": Hidden,
};
const target = document.getElementById("svelte");
if (PAGES[target?.dataset.page]) mount(PAGES[target.dataset.page], { target });
