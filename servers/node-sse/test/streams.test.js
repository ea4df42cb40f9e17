import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../src/app.js';
import { CHARACTERS } from '../src/text.js';

async function startApp(t) {
  const app = createApp();
  app.server.listen(0, '127.0.0.1');
  await once(app.server, 'listening');
  t.after(app.stop);
  return { ...app, url: `http://127.0.0.1:${app.server.address().port}` };
}

function eventsFrom(first) {
  return CHARACTERS.map((character, number) => `id: ${number}\ndata: ${character}\n\n`)
    .slice(first)
    .join('');
}

async function activeStreams(url) {
  return (await (await fetch(`${url}/metricz`)).json()).active_streams;
}

test('each character is an event', async (t) => {
  const { url } = await startApp(t);
  for (const path of ['/stream', '/stream?pace=1000']) {
    assert.equal(await (await fetch(url + path)).text(), eventsFrom(0));
  }
});

test('a stream resumes after the last event', async (t) => {
  const { url } = await startApp(t);
  for (const last of [0, 17, CHARACTERS.length - 1]) {
    const response = await fetch(`${url}/stream`, { headers: { 'Last-Event-ID': `${last}` } });
    assert.equal(await response.text(), eventsFrom(last + 1));
  }
});

test('a stream ends when its client leaves', async (t) => {
  const { url } = await startApp(t);
  const leaving = new AbortController();
  await fetch(`${url}/stream?pace=1`, { signal: leaving.signal });
  assert.equal(await activeStreams(url), 1);
  leaving.abort();
  await sleep(100);
  assert.equal(await activeStreams(url), 0);
});

test('streams end properly when the server stops', async (t) => {
  const { url, stop, server } = await startApp(t);
  const response = await fetch(`${url}/stream?pace=1`);
  const closed = once(server, 'close');
  stop();
  // A truncated stream would make it throw.
  assert.equal(await response.text(), 'id: 0\ndata: P\n\n');
  await closed;
});

test('a body that is too large is refused', async (t) => {
  const { url } = await startApp(t);
  const body = 'x'.repeat(64 * 1024 + 1);
  const chunks = () => new Blob([body]).stream();
  for (const request of [{ body }, { body: chunks(), duplex: 'half' }]) {
    assert.equal((await fetch(`${url}/stream`, { method: 'POST', ...request })).status, 413);
  }
  assert.equal((await fetch(`${url}/stream`, { method: 'POST', body: body.slice(1) })).status, 405);
});
