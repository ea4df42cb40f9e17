// A series without axes, as large as a line of text.

const WIDTH = 96;
const HEIGHT = 22;

export function Sparkline({ values, about }: { values: (number | null)[]; about: string }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <span class="muted">too few runs</span>;
  const low = Math.min(...known);
  const height = Math.max(...known) - low || 1;
  const x = (index: number) => ((index / (values.length - 1)) * (WIDTH - 4) + 2).toFixed(1);
  const y = (value: number) => (HEIGHT - 3 - ((value - low) / height) * (HEIGHT - 6)).toFixed(1);
  let path = '';
  values.forEach((value, index) => {
    if (value === null) return;
    const before = values[index - 1];
    path += `${before === null || before === undefined ? 'M' : 'L'}${x(index)} ${y(value)}`;
  });
  const last = values.findLastIndex((value) => value !== null);
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={about}>
      <path d={path} />
      <circle cx={x(last)} cy={y(values[last] ?? 0)} r="2.2" />
    </svg>
  );
}
