/** The result of a check, with its output: the faults if it failed, or why it was not performed. */
export interface Outcome {
  readonly result: 'passed' | 'failed' | 'not performed';
  readonly output: string;
}

interface AuditReport {
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
  readonly message?: string;
}

/**
 * What `npm audit --json` has found. It exits with 1 for vulnerabilities, and as well when the registry does not answer it.
 * @param output begins with the report; warnings may follow.
 */
export function auditOutcome({ result, output }: Outcome): Outcome {
  if (result === 'passed') return { result, output };
  const report = reportIn(output);
  if (report.vulnerabilities) {
    const found = Object.entries(report.vulnerabilities).map(
      ([name, { severity }]) => `${name}: ${severity}`,
    );
    return { result: 'failed', output: `${found.join('\n')}\nnpm audit --omit=dev has the details\n` };
  }
  return { result: 'not performed', output: `${report.message ?? 'npm audit has no report'}\n` };
}

/** npm indents its report: it ends with the first line that is only a brace. */
function reportIn(output: string): AuditReport {
  try {
    return JSON.parse(output.slice(0, output.indexOf('\n}\n') + 2));
  } catch {
    return {};
  }
}

/** The last line of `npm run check`. */
export function summaryOf(outcomes: ReadonlyMap<string, Outcome>): string {
  const withResult = (wanted: Outcome['result']) =>
    [...outcomes].filter(([, { result }]) => result === wanted).map(([name]) => name);
  const failed = withResult('failed').length;
  const notPerformed = withResult('not performed');
  const rest = notPerformed.length === 0 ? '' : ` NOT PERFORMED: ${notPerformed.join(', ')}.`;
  if (failed > 0) return `${failed} of ${outcomes.size} checks failed.${rest}`;
  return `All ${rest ? 'other ' : ''}checks passed.${rest}`;
}
