// Turns an ES module of the build into a classic script: a function that takes the imports and returns the exports.
// loader.js loads these scripts. Bindings are passed only once, because no module of the pages reassigns one that it
// exports.

import { readFileSync } from 'node:fs';

const LOADER = readFileSync('loader.js', 'utf8').replace(/^\s*\/\/.*\n/gm, '');

/** Returns the classic script of a chunk; `parse` parses its code to ESTree. */
export function classicScript({ code, fileName, isEntry }, parse) {
  const edits = [];
  const imported = [];
  let returned = '';
  for (const node of parse(code).body) {
    if (node.type === 'ImportDeclaration') {
      imported.push({ file: scriptName(node.source.value), names: node.specifiers.map(destructured) });
      edits.push([node.start, node.end, '']);
    } else if (node.type === 'ExportNamedDeclaration' && !node.declaration && !node.source) {
      returned = node.specifiers.map((each) => `${nameOf(each.exported)}:${each.local.name}`).join();
      edits.push([node.start, node.end, '']);
    } else if (node.type.startsWith('Export')) {
      throw new Error(`${fileName}: an export that is no list of names`);
    }
  }
  for (const node of withOwnSyntax(parse(code))) {
    const load = node.source && `pushbenchCode.load(${JSON.stringify(scriptName(textOf(node.source)))})`;
    edits.push([node.start, node.end, load ?? '({})']);
  }
  const body = edited(code, edits);
  const parameters = imported.map(({ names }) => `{${names.join()}}`).join();
  const files = JSON.stringify(imported.map(({ file }) => file));
  const name = JSON.stringify(scriptName(fileName));
  if (isEntry && imported.length) throw new Error(`${fileName}: the entry imports ${files}`);
  const script = `pushbenchCode.of[${name}]=[${files},(${parameters})=>{${body};return{${returned}}}];\n`;
  return isEntry ? `${LOADER}${script}pushbenchCode.load(${name});\n` : script;
}

function scriptName(path) {
  return path.replace(/^.*\//, '');
}

/** The text of a string, or of a template without expressions, into which the minifier turns some strings. */
function textOf(node) {
  return node.value ?? node.quasis[0].value.cooked;
}

function nameOf(node) {
  return node.name ?? JSON.stringify(node.value);
}

function destructured(specifier) {
  if (specifier.type !== 'ImportSpecifier') throw new Error(`${specifier.type} in an import`);
  return `${nameOf(specifier.imported)}:${specifier.local.name}`;
}

/** The syntax that only modules may use: `import(...)` and `import.meta`. */
function* withOwnSyntax(node) {
  if (Array.isArray(node)) for (const each of node) yield* withOwnSyntax(each);
  else if (node && typeof node.type === 'string') {
    if (node.type === 'ImportExpression' || node.type === 'MetaProperty') yield node;
    else for (const each of Object.values(node)) if (each && typeof each === 'object') yield* withOwnSyntax(each);
  }
}

function edited(code, edits) {
  let text = code;
  for (const [start, end, instead] of edits.sort(([a], [b]) => b - a)) {
    text = text.slice(0, start) + instead + text.slice(end);
  }
  return text;
}
