import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeMessage, UNKNOWN } from '../dist/message-routing.js';

for (const type of ['join', 'draw', 'leave']) {
  test(`a ${type} goes to its handler, with its text as it came`, () => {
    const text = ` {"type": "${type}"}`;
    assert.deepEqual(routeMessage(text), { event: type, data: { message: { type }, text } });
  });
}

const unknown = {
  'an unknown type': '{"type":"erase"}',
  'a type that is no string': '{"type":["join"]}',
  'the name of the handler itself': JSON.stringify({ type: UNKNOWN }),
  'an array': '[]',
  'a null': 'null',
  'what is not JSON': '{',
  'a binary frame': Buffer.from('{"type":"join"}'),
};

for (const [name, data] of Object.entries(unknown)) {
  test(`${name} goes to the handler of unknown messages`, () => assert.equal(routeMessage(data).event, UNKNOWN));
}
