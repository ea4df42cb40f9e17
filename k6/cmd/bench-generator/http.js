// A plain script for k6's own HTTP module: posts at a rate, or one stream after the other, each with its whole body.

import http from 'k6/http';
import { Counter } from 'k6/metrics';

const rate = Number(__ENV.RATE || 0);
const clients = Number(__ENV.CLIENTS);
const duration = `${__ENV.SECONDS}s`;
const failures = new Counter('failures');

export const options = {
  scenarios: {
    exchanges:
      rate > 0
        ? { executor: 'constant-arrival-rate', rate, duration, preAllocatedVUs: clients, gracefulStop: '1s' }
        : {
            executor: 'ramping-vus',
            startVUs: 0,
            gracefulRampDown: '0s',
            gracefulStop: '1s',
            stages: [
              { duration: '1s', target: clients },
              { duration, target: clients },
            ],
          },
  },
};

let number = 0;

export default function () {
  if (!(rate > 0 ? post() : stream())) {
    failures.add(1);
  }
}

function stream() {
  const response = http.get(`${__ENV.URL}/stream`);
  return response.status === 200 && response.body.startsWith('id:0\n');
}

function post() {
  const body = JSON.stringify({ title: `post ${number++}`, content: `what a client wrote at ${Date.now()} ms` });
  return http.post(`${__ENV.URL}/post`, body, { headers: { 'Content-Type': 'application/json' } }).status === 201;
}

export function handleSummary() {
  return {};
}
