import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLoopDelay } from '../src/delay.js';

test('nothing is known before the first window has ended', () => {
  assert.deepEqual(new EventLoopDelay().last, { p50: null, p99: null });
});

test('percentiles are of the last window, in seconds', () => {
  const delay = new EventLoopDelay();
  for (let i = 1; i <= 100; i++) delay.add(i / 10);
  delay.closeWindow();
  assert.deepEqual(delay.last, { p50: 0.005, p99: 0.0099 });
  delay.add(-0.5); // a timer of whole milliseconds may be early
  delay.closeWindow();
  assert.deepEqual(delay.last, { p50: 0, p99: 0 });
});

test('a loop that is blocked for long counts for all timers that were due meanwhile', () => {
  const delay = new EventLoopDelay();
  for (let i = 0; i < 80; i++) delay.add(0);
  delay.add(200); // 20 timers
  delay.closeWindow();
  assert.equal(delay.last.p50, 0);
  assert.equal(delay.last.p99, 0.19);
});

test('a blocked loop is seen', { timeout: 10_000 }, async () => {
  const delay = new EventLoopDelay().start();
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(50);
  const until = performance.now() + 300;
  while (performance.now() < until);
  while (delay.last.p50 === null) await wait(20);
  assert.ok(delay.last.p99 > 0.25, `p99 is ${delay.last.p99}`);
});
