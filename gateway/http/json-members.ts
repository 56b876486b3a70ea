const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/** An object or array that is open where the reading is; `step` leads to the value that is read in it. */
interface Open {
  readonly names: Set<string> | undefined;
  step: string | number;
}

/**
 * The JSON pointer of the first member that its object names twice, of which JSON.parse keeps the last in silence;
 * undefined when there is none. `json` must be well-formed.
 */
export function repeatedMember(json: string): string | undefined {
  const open: Open[] = [];
  let text = '';
  for (const [token] of json.matchAll(TOKEN)) {
    const within = open.at(-1);
    switch (token) {
      case '{':
        open.push({ names: new Set(), step: '' });
        break;
      case '[':
        open.push({ names: undefined, step: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (typeof within!.step === 'number') within!.step += 1;
        break;
      case ':':
        within!.step = JSON.parse(text) as string;
        if (within!.names!.has(within!.step)) return pointerTo(open);
        within!.names!.add(within!.step);
        break;
      default:
        text = token;
    }
  }
  return undefined;
}

function pointerTo(open: readonly Open[]): string {
  return open.map(({ step }) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
