import { expect, test } from 'vitest';
import { auditOutcome, type Outcome, summaryOf } from '../../local/check-outcome.ts';

/** As `npm audit --json` of npm 11 prints it, and then its warnings. */
const printed = (report: unknown, warnings = ''): Outcome => ({
  result: 'failed',
  output: `${JSON.stringify(report, null, 2)}\n${warnings}`,
});

const VULNERABLE = {
  auditReportVersion: 2,
  vulnerabilities: {
    nodemailer: {
      name: 'nodemailer',
      severity: 'moderate',
      isDirect: true,
      via: [
        {
          source: 1_108_946,
          name: 'nodemailer',
          title: 'Email to an unintended domain can occur due to Interpretation Conflict',
          url: 'https://github.com/advisories/GHSA-mm7p-fcc7-pg87',
          severity: 'moderate',
          range: '<7.0.7',
        },
      ],
      effects: [],
      range: '<7.0.7',
      nodes: ['node_modules/nodemailer'],
      fixAvailable: true,
    },
  },
  metadata: { vulnerabilities: { info: 0, low: 0, moderate: 1, high: 0, critical: 0, total: 1 } },
};

/** Of a mirror that serves packages only. */
const REFUSED = {
  message: '405 Method Not Allowed - POST https://registry.example/-/npm/v1/security/advisories/bulk',
  method: 'POST',
  headers: { allow: ['GET,HEAD'] },
  statusCode: 405,
  body: '',
  error: { summary: '', detail: '' },
};
const WARNINGS = 'npm warn audit 405 Method Not Allowed\nnpm error audit endpoint returned an error {}\n';

test('a vulnerability of a dependency fails the checks, by name', () => {
  const outcome = auditOutcome(printed(VULNERABLE, WARNINGS));
  expect(outcome).toEqual({ result: 'failed', output: expect.stringMatching(/^nodemailer: moderate\n/) });
  expect(summaryOf(new Map([['audit', outcome]]))).toBe('1 of 1 checks failed.');
});

test.each([
  ['refuses', printed(REFUSED, WARNINGS), REFUSED.message],
  [
    'does not answer',
    { result: 'failed', output: 'npm error network\n' } as const,
    'npm audit has no report',
  ],
])('an audit that the registry %s is not performed, and the last line says so', (_, answer, reason) => {
  const outcome = auditOutcome(answer);
  expect(outcome).toEqual({ result: 'not performed', output: `${reason}\n` });
  const outcomes = new Map<string, Outcome>([
    ['lint', { result: 'passed', output: '' }],
    ['audit', outcome],
  ]);
  expect(summaryOf(outcomes)).toBe('All other checks passed. NOT PERFORMED: audit.');
});

test('an audit without vulnerabilities passes', () => {
  expect(auditOutcome({ result: 'passed', output: '{}' }).result).toBe('passed');
});
