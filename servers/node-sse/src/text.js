// The text that is streamed, as an array of its characters (code points).

import { readFileSync } from 'node:fs';

export const CHARACTERS = [...readFileSync(new URL('../text.txt', import.meta.url), 'utf8')];
