// What the pages of all frameworks load.
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export const load = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
};
export const article = (name, delay = 300) => load(`/api/article/${name}?delay=${delay}`);
export const rows = (from, count, delay = 60) => load(`/api/rows?from=${from}&count=${count}&delay=${delay}`);
