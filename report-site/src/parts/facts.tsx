// Names with their values.

interface Props {
  facts: [string, string][];
}

export function Facts({ facts }: Props) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
