// A piece of text of the documents.

/** Text between backticks is code. */
export function Inline({ text }: { text: string }) {
  return <>{text.split('`').map((part, number) => (number % 2 ? <code key={number}>{part}</code> : part))}</>;
}
