// The suite `location`: clients in groups, each shares its position every 3 s and receives those of the others.
// `pushbench run` passes a plan in PUSH_LOAD and expects the load report in PUSH_REPORT. By hand:
//   k6 run -e PROTOCOL=location-sse -e CLIENTS=100 -e SECONDS=10 scenarios/location.js
import { load as loadOf } from 'k6/x/push';

const plan = __ENV.PUSH_LOAD
  ? JSON.parse(open(__ENV.PUSH_LOAD))
  : {
      url: __ENV.URL || 'http://127.0.0.1:8080',
      protocol: __ENV.PROTOCOL || 'location-websocket',
      seed: Number(__ENV.SEED || 1),
      parameters: {
        group_size: Number(__ENV.GROUP_SIZE || 4),
        arrivals: __ENV.ARRIVALS || 'fixed',
      },
      schedule: {
        warmup_seconds: 2,
        stages: [
          {
            clients: Number(__ENV.CLIENTS || 20),
            ramp_seconds: 1,
            settle_seconds: 1,
            steady_seconds: Number(__ENV.SECONDS || 6),
          },
        ],
        drain_seconds: 10,
      },
    };

const load = loadOf(plan, ({ group_size: size, arrivals }) => ({ size, pattern: 'position', arrivals }));

export const options = { scenarios: { location: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return __ENV.PUSH_REPORT ? { [__ENV.PUSH_REPORT]: load.report('json') } : { stdout: load.report('text') };
}
