import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DemoConsole } from '../../../local/demo/demo-console.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newConsole(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  return { output: new DemoConsole({ isTTY, write }), written };
}

test('in a terminal, progress replaces its line until the next step', () => {
  const { output, written } = newConsole(true);
  output.progress('1 s');
  output.progress('2 s');
  output.step(1, 'subscribe');
  output.detail('done');
  expect(written.join('')).toBe('\r\x1b[K    1 s\r\x1b[K    2 s\n 1  subscribe\n    done\n');
});

test('elsewhere, progress is a line every ten seconds', () => {
  const { output, written } = newConsole(false);
  for (let second = 0; second <= 20; second += 1) {
    output.progress(`${second} s`);
    vi.advanceTimersByTime(1_000);
  }
  expect(written.join('')).toBe('    0 s\n    10 s\n    20 s\n');
});
