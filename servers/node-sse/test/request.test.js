import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadRequest, parseRequest } from '../src/request.js';
import { CHARACTERS } from '../src/text.js';

const lastId = CHARACTERS.length - 1;

const badPaces = ['pace=', 'pace', 'pace=0', 'pace=1001', 'pace=1.5', 'pace=%2B5', 'pace=05', 'pace=1&pace=1'];
const badIds = ['', '-1', `${lastId + 1}`, '1.0', 'a', '007', '1, 2'];

const good = {
  'nothing but the path': { wanted: { first: 0, pace: undefined } },
  'the least pace': { query: '?pace=1', wanted: { first: 0, pace: 1 } },
  'the highest pace': { query: '?pace=1000', wanted: { first: 0, pace: 1000 } },
  'another parameter': { query: '?x=1', wanted: { first: 0, pace: undefined } },
  'the first id': { id: '0', wanted: { first: 1, pace: undefined } },
  'the last id': { id: `${lastId}`, wanted: { first: lastId + 1, pace: undefined } },
};

for (const [name, { query, id, wanted }] of Object.entries(good)) {
  test(`${name} is accepted`, () => assert.deepEqual(parse(query, id), wanted));
}

for (const query of badPaces) {
  test(`${query} is refused`, () => assert.throws(() => parse(`?${query}`), BadRequest));
}

for (const id of badIds) {
  test(`the Last-Event-ID "${id}" is refused`, () => assert.throws(() => parse('', id), BadRequest));
}

function parse(query = '', id = undefined) {
  return parseRequest({ url: `/stream${query}`, headers: { 'last-event-id': id } });
}
