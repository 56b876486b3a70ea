const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/** An object or array being read; `step` is the name or index of its current member. */
interface Container {
  readonly names: Set<string> | undefined;
  step: string | number;
}

/**
 * Finds the first duplicate member name, which JSON.parse would silently resolve to the last value. Returns its JSON
 * pointer, or undefined. `json` must be well-formed.
 */
export function repeatedMember(json: string): string | undefined {
  const open: Container[] = [];
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

function pointerTo(open: readonly Container[]): string {
  return open.map(({ step }) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
