// The suite `typing-game`: clients ask for rooms of six, type a text against each other, and play again.
// `pushbench run` passes a plan in PUSH_LOAD and expects the load report in PUSH_REPORT. By hand:
//   k6 run -e URL=http://127.0.0.1:8080 -e CLIENTS=60 -e SECONDS=30 scenarios/typing-game.js
import { load as loadOf } from 'k6/x/push';

const plan = __ENV.PUSH_LOAD
  ? JSON.parse(open(__ENV.PUSH_LOAD))
  : {
      url: __ENV.URL || 'http://127.0.0.1:8080',
      protocol: __ENV.PROTOCOL || 'typing-game-socketio',
      seed: Number(__ENV.SEED || 1),
      parameters: {
        characters: Number(__ENV.CHARACTERS || 150),
        arrivals: __ENV.ARRIVALS || 'fixed',
      },
      schedule: {
        warmup_seconds: 2,
        stages: [
          {
            clients: Number(__ENV.CLIENTS || 24),
            ramp_seconds: Number(__ENV.RAMP || 1),
            settle_seconds: 1,
            steady_seconds: Number(__ENV.SECONDS || 6),
          },
        ],
        drain_seconds: 10,
      },
    };

const load = loadOf(plan, ({ characters: length, arrivals }) => ({
  size: 6, // the seats of a room
  pattern: 'keystrokes',
  arrivals,
  length,
  beside: { ping: { pattern: 'steady' } },
}));

export const options = { scenarios: { typing: load.scenario() } };

export default function () {
  load.play();
}

export function handleSummary() {
  return __ENV.PUSH_REPORT ? { [__ENV.PUSH_REPORT]: load.report('json') } : { stdout: load.report('text') };
}
