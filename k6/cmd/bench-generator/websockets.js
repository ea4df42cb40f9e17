// A plain script for k6's own WebSocket module: join, draw once a second, take the latency of every delivery. With
// PROTOCOL=whiteboard-socketio the messages are packets of Socket.IO.

import exec from 'k6/execution';
import { Counter, Trend } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';

const clients = Number(__ENV.CLIENTS);
const seconds = Number(__ENV.SECONDS);
const socketIO = __ENV.PROTOCOL === 'whiteboard-socketio';
const delivery = new Trend('delivery', true);
const deliveries = new Counter('deliveries');
const stroke = Array.from({ length: 20 }, (_, i) => [412 + 5 * i, 288 + 3 * i]);

export const options = {
  scenarios: {
    draw: {
      executor: 'ramping-vus',
      startVUs: 0,
      gracefulRampDown: '0s',
      gracefulStop: '1s',
      stages: [
        { duration: '3s', target: clients },
        { duration: `${seconds}s`, target: clients },
      ],
    },
  },
};

export default function () {
  const number = exec.vu.idInTest - 1;
  const boardId = `b-${Math.floor(number / Number(__ENV.BOARD_SIZE))}`;
  const userId = `u-${number}`;
  const ws = new WebSocket(`${__ENV.URL}${socketIO ? '/socket.io/?EIO=4&transport=websocket' : '/ws'}`);
  let seq = 0;
  let next;

  const draw = () => {
    const text = JSON.stringify({ type: 'draw', boardId, userId, seq: seq++, sentAt: Date.now(), stroke });
    ws.send(socketIO ? `42["draw",${text}]` : text);
    next += 1000;
    setTimeout(draw, next - Date.now());
  };

  const join = () => {
    const text = JSON.stringify({ type: 'join', boardId, userId });
    ws.send(socketIO ? `420["join",${text}]` : text);
  };

  const understand = (message) => {
    if (message.type === 'draw') {
      delivery.add(Date.now() - message.sentAt);
      deliveries.add(1);
    } else if (message.type === 'joined') {
      next = Date.now() + Math.random() * 1000;
      setTimeout(draw, next - Date.now());
    }
  };

  if (!socketIO) {
    ws.onopen = join;
    ws.onmessage = (event) => understand(JSON.parse(event.data));
    return;
  }
  ws.onmessage = ({ data }) => {
    if (data === '2') ws.send('3');
    else if (data.startsWith('0')) ws.send('40');
    else if (data.startsWith('40')) join();
    else understand(JSON.parse(data.slice(data.indexOf('['))).pop());
  };
}

export function handleSummary() {
  return {};
}
