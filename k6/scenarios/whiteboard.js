// The suite `whiteboard`: clients on boards, each stroke goes to every member of its board.
// `pushbench run` passes a plan in PUSH_LOAD and expects the load report in PUSH_REPORT. By hand:
//   k6 run -e URL=ws://127.0.0.1:8080 -e CLIENTS=100 -e SECONDS=10 scenarios/whiteboard.js
import { load as loadOf } from 'k6/x/push';

const plan = __ENV.PUSH_LOAD
  ? JSON.parse(open(__ENV.PUSH_LOAD))
  : {
      url: __ENV.URL || 'ws://127.0.0.1:8080',
      authorities: __ENV.AUTHORITIES || '',
      protocol: __ENV.PROTOCOL || 'whiteboard-json',
      declaration: __ENV.DECLARATION ? JSON.parse(open(__ENV.DECLARATION)) : null,
      seed: Number(__ENV.SEED || 1),
      parameters: {
        board_size: Number(__ENV.BOARD_SIZE || 10),
        pattern: __ENV.PATTERN || 'steady',
        arrivals: __ENV.ARRIVALS || 'fixed',
      },
      schedule: {
        warmup_seconds: 2,
        stages: [
          {
            clients: Number(__ENV.CLIENTS || 20),
            ramp_seconds: 1,
            settle_seconds: 1,
            steady_seconds: Number(__ENV.SECONDS || 5),
          },
        ],
        drain_seconds: 10,
      },
    };

const load = loadOf(plan, ({ board_size: size, pattern, arrivals }) => ({ size, pattern, arrivals }));

export const options = { scenarios: { whiteboard: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return __ENV.PUSH_REPORT ? { [__ENV.PUSH_REPORT]: load.report('json') } : { stdout: load.report('text') };
}
