// The sites that the tests look at; bench/tests/site/browsing.py makes them and says where.

import { join } from 'node:path';

const folder = process.env.PUSHBENCH_SITES;
if (!folder)
  throw new Error('PUSHBENCH_SITES names no folder: the tests are run by pytest, see bench/tests/site/browsing.py');

/** 5,000 commits of 19 servers */
export const large = join(folder, 'large', 'site');
/** what a few days of runs look like */
export const small = join(folder, 'small', 'site');
/** the whiteboard and a second suite, which has other words */
export const suites = join(folder, 'suites', 'site');
/** names and texts that try to inject code */
export const hostile = join(folder, 'hostile', 'site');
/** nothing measured */
export const empty = join(folder, 'empty', 'site');
