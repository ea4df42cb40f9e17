// The text to type: ASCII, so a character is one unit of a string.

import { readFileSync } from 'node:fs';

export const TEXT = readFileSync(new URL('../text.txt', import.meta.url), 'ascii');
