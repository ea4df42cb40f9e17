// The suite `token-stream`: each client asks for a text, which comes character by character as server-sent events.
// `pushbench run` passes a plan in PUSH_LOAD and expects the load report in PUSH_REPORT. By hand:
//   k6 run -e URL=http://127.0.0.1:8080 -e CLIENTS=10 -e SECONDS=10 scenarios/token-stream.js
import { load as loadOf } from 'k6/x/push';

const plan = __ENV.PUSH_LOAD
  ? JSON.parse(open(__ENV.PUSH_LOAD))
  : {
      url: __ENV.URL || 'http://127.0.0.1:8080',
      authorities: __ENV.AUTHORITIES || '',
      protocol: __ENV.PROTOCOL || 'token-stream-sse',
      declaration: __ENV.DECLARATION ? JSON.parse(open(__ENV.DECLARATION)) : null,
      seed: Number(__ENV.SEED || 1),
      parameters: {
        streams_per_second: Number(__ENV.RATE || 0),
        tokens_per_second: Number(__ENV.PACE || 0),
        arrivals: __ENV.ARRIVALS || 'poisson',
      },
      schedule: {
        warmup_seconds: 2,
        stages: [
          {
            clients: Number(__ENV.CLIENTS || 10),
            closed: !__ENV.RATE,
            ramp_seconds: 1,
            settle_seconds: 1,
            steady_seconds: Number(__ENV.SECONDS || 5),
          },
        ],
        drain_seconds: 10,
      },
    };

const load = loadOf(plan, ({ streams_per_second: rate, tokens_per_second: pace, arrivals }) => ({
  rate,
  arrivals,
  query: pace ? `pace=${pace}` : '',
}));

export const options = { scenarios: { token_stream: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return __ENV.PUSH_REPORT ? { [__ENV.PUSH_REPORT]: load.report('json') } : { stdout: load.report('text') };
}
