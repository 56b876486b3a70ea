import { onTestFinished } from 'vitest';
import { type Program, startProgram } from './program.ts';

/** Starts a program of the system that is killed with its test at the latest. */
export function startRuntime(...args: Parameters<typeof startProgram>): Program {
  const program = startProgram(...args);
  onTestFinished(program.kill);
  return program;
}
