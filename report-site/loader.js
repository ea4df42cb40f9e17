// Loads the scripts that classic-scripts.js makes; the build puts this code before the first of them. Each script
// registers the names of the scripts that it needs, and a function that takes their exports.
self.pushbenchCode = (() => {
  const of = {};
  const made = {};
  const version = new URL(document.currentScript.src).search;
  const fetched = (name) =>
    new Promise((resolve, reject) => {
      if (name in of) return resolve();
      const script = document.createElement('script');
      script.src = `assets/${name}${version}`;
      script.onload = () => (name in of ? resolve() : reject(new Error(`The file assets/${name} is incomplete.`)));
      script.onerror = () => reject(new Error(`The file assets/${name} is missing.`));
      document.head.append(script);
    });
  const make = async (name) => {
    await fetched(name);
    const [files, body] = of[name];
    return body(...(await Promise.all(files.map(load))));
  };
  const load = (name) => {
    made[name] ??= make(name);
    made[name].catch(() => delete made[name]); // the next visit of the page tries again
    return made[name];
  };
  return { of, load };
})();
