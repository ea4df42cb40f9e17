// How a line or a server is drawn, as large as a word.

import { markerPath, type Stroke } from '../theme';

export function Swatch({ stroke }: { stroke: Stroke }) {
  return (
    <svg width="28" height="12" aria-hidden="true" class={`swatch ${stroke.colour}`}>
      <path d="M0 6H28" stroke-width="2" fill="none" stroke-dasharray={stroke.dash.join(' ')} />
      {stroke.marker && <path d={markerPath(stroke.marker, 14, 6, 4)} fill="currentColor" />}
    </svg>
  );
}
