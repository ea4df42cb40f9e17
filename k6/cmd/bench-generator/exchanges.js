// Clients of k6/x/push that make requests of their own: posts at a rate, or one stream after the other.

import { load as loadOf } from 'k6/x/push';

const rate = Number(__ENV.RATE || 0);

const plan = {
  url: __ENV.URL,
  protocol: __ENV.PROTOCOL,
  declaration: __ENV.DECLARATION ? JSON.parse(open(__ENV.DECLARATION)) : null,
  seed: 1,
  parameters: {},
  schedule: {
    warmup_seconds: 0,
    stages: [
      { clients: Number(__ENV.CLIENTS), ramp_seconds: 1, settle_seconds: 0, steady_seconds: Number(__ENV.SECONDS) },
    ],
    drain_seconds: 10,
  },
};

const load = loadOf(plan, () => (rate > 0 ? { rate } : { pattern: 'closed' }));

export const options = { scenarios: { exchanges: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return { stdout: load.report('text') };
}
