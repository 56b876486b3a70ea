import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createGateway } from '../../gateway/app.ts';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
// Only processes with credentials in files, or a dashboard, load these.
import '../../services/platform/process/credential-files.ts';
import '../../gateway/dashboard/dashboard-log.ts';
import '../../gateway/dashboard/sign-in/sign-in-count.ts';
import { type PaymentsWorker, startWorker } from '../../workflows/worker.ts';
import { WORKER_CALLER } from '../../workflows/worker-caller.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';
import { readMetrics } from '../support/scrape.ts';
import { testWorkflowBundle } from '../support/temporal-namespace.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string; readonly runbook_url: string };
}

/** `payments_x{environment="live"}` in an expression. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** A test that Prometheus runs: at a time, this many alerts of a name must fire. */
interface RuleTest {
  readonly name: string;
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }[];
  readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples: readonly unknown[] }[];
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
interface RuleTestFile {
  readonly rule_files: readonly string[];
  readonly tests: readonly RuleTest[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const textsOf = (pattern: string) =>
  globSync(pattern, { cwd: ROOT })
    .sort()
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
const rules = textsOf('services/*/alerts.yaml').flatMap(([, text]) =>
  (parse(text) as RuleFile).groups.flatMap((group) => group.rules),
);
const testFiles = textsOf('test/services/*/alerts*.promtool.yaml').map(
  ([path, text]) => [path, parse(text) as RuleTestFile] as const,
);
const tests = testFiles.flatMap(([, file]) => file.tests);

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly description?: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
const dashboards = textsOf('docs/operations/grafana/*.json').map(([, text]) => JSON.parse(text) as Dashboard);

/** The errors that PromQL's own grammar finds in an expression. */
function errorsIn(expr: string): number[] {
  const errors: number[] = [];
  parser.parse(expr).iterate({ enter: ({ type, from }) => void (type.isError && errors.push(from)) });
  return errors;
}

function selectorsOf(expr: string): Selector[] {
  const selectors: { metric: string; matchers: Selector['matchers'][number][] }[] = [];
  const text = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: (node) => {
      if (node.name === 'VectorSelector') selectors.push({ metric: '', matchers: [] });
      if (node.name === 'Identifier') selectors.at(-1)!.metric = text(node);
      if (node.name !== 'UnquotedLabelMatcher') return;
      const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((child) =>
        text(node.node.getChild(child)!),
      );
      selectors.at(-1)!.matchers.push({ label: label!, operator: operator!, value: value!.slice(1, -1) });
    },
  });
  return selectors;
}

let harness: TestHarness;
let worker: PaymentsWorker;
let scraped: string[];

beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks,webhook-lanes,refunds,advances,funds' });
  harness.services.startWebhookLanes();
  // Without Temporal all its metrics are there, too.
  worker = await startWorker({
    config: harness.config,
    logger: createLogger('silent'),
    transport: harness.services.transportFor(WORKER_CALLER),
    temporalAddress: '127.0.0.1:1',
    workflowBundle: testWorkflowBundle(),
  });
  // A request, so that the metrics of the public API have samples.
  const transport = harness.services.transportFor(GATEWAY_CALLER);
  const gateway = createGateway({
    environment: 'live',
    config: harness.config,
    transport,
    logger: createLogger('silent'),
  });
  await gateway.inject('/v1/refund-cases');
  await gateway.close();
  scraped = (await readMetrics()).split('\n');
});

afterAll(async () => {
  await worker?.close();
  await harness?.close();
});

/** The names of samples by the types in a scrape; those of a histogram with labels appear with its first value. */
function sampleNames(): Set<string> {
  const suffixes: Record<string, string[]> = { histogram: ['_bucket', '_sum', '_count'] };
  return new Set(
    scraped
      .filter((line) => line.startsWith('# TYPE'))
      .flatMap((line) => {
        const [, , name, type] = line.split(' ');
        return (suffixes[type!] ?? ['']).map((suffix) => name + suffix);
      }),
  );
}

/**
 * Metrics that Prometheus gets from others, node_exporter and the kubelet, the one that it makes of each scrape, and those that
 * a process has on Linux only.
 */
const FOREIGN =
  /^((node_filesystem|kubelet_volume_stats)_(avail|available|size|capacity)_bytes|process_(open|max)_fds|up)$/;

/** Expects PromQL over metrics and labels that a scrape contains. */
function expectToReadScrape(expr: string): void {
  expect(errorsIn(expr), expr).toEqual([]);
  const names = sampleNames();
  for (const { metric, matchers } of selectorsOf(expr).filter((one) => !FOREIGN.test(one.metric))) {
    expect(names).toContain(metric);
    const samples = scraped.filter((line) => line.startsWith(`${metric}{`));
    // Prometheus adds the job.
    for (const { label, operator, value } of matchers.filter((each) => each.label !== 'job')) {
      const wanted = operator === '=' ? `${label}="${value}"` : `${label}="`;
      expect(
        samples.filter((line) => line.includes(wanted)),
        `${metric} with ${wanted}`,
      ).not.toEqual([]);
    }
  }
}

describe.each(rules)('the alert $alert', ({ expr, labels, annotations, ...rule }) => {
  it('is written in PromQL, over metrics and labels that a scrape contains', () => {
    expectToReadScrape(expr);
  });

  it('states its severity, what is wrong and what to do', () => {
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(rule.for ?? '1m').toMatch(/^\d+[smhd]$/);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.action).toMatch(/^[A-Z].{20,}\.$/s);
  });
});

describe.each(rules)('Prometheus tries the alert $alert (npm run alerts)', ({ alert, ...rule }) => {
  const cases = tests.filter((test) => test.alert_rule_test.some(({ alertname }) => alertname === alert));
  const expectsIt = ({ alert_rule_test }: RuleTest) =>
    alert_rule_test.some(({ alertname, exp_alerts }) => alertname === alert && exp_alerts.length > 0);

  it('on series for which it fires, and not too early', () => {
    const firing = cases.filter(expectsIt);
    expect(firing).not.toEqual([]);
    if (!rule.for) return;
    for (const { name, alert_rule_test } of firing) {
      expect(alert_rule_test[0], name).toMatchObject({ alertname: alert, exp_alerts: [] });
    }
  });

  it('on series for which it never fires', () => {
    const never = `count_over_time(ALERTS{alertname="${alert}",alertstate="firing"}[`;
    const healthy = cases.filter((test) => !expectsIt(test));
    expect(healthy).not.toEqual([]);
    for (const { name, promql_expr_test = [] } of healthy) {
      const ever = promql_expr_test.filter(({ expr }) => expr.startsWith(never));
      expect(
        ever.map(({ exp_samples }) => exp_samples),
        name,
      ).toEqual([[]]);
    }
  });
});

describe.each(dashboards)('the Grafana dashboard $title', ({ panels }) => {
  it('reads metrics and labels that a scrape contains', () => {
    const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(exprs.length).toBeGreaterThanOrEqual(panels.length);
    for (const expr of exprs) expectToReadScrape(expr);
  });

  it('names alerts that exist', () => {
    const named = panels.flatMap(({ description = '' }) => description.match(/[A-Z][a-z]+[A-Z]\w+/g) ?? []);
    expect(rules.map(({ alert }) => alert)).toEqual(expect.arrayContaining(named));
  });
});

it('a counter of which alerts read the increase starts at 0, so that the first events are an increase', () => {
  const counters = rules
    .filter(({ expr }) => expr.includes('increase('))
    .flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric))
    .filter((metric) => metric.endsWith('_total'));
  expect(new Set(counters)).toEqual(
    new Set([
      'payments_workflow_command_errors_total',
      'payments_webhook_expired_deliveries_total',
      'payments_funds_differences_total',
      'payments_funds_verification_failures_total',
      'payments_area_differences_total',
      'payments_overload_refusals_total',
      'payments_mails_total',
      'payments_provider_submissions_total',
      'payments_refunds_contradicted_total',
      'payments_payouts_second_total',
      'payments_http_failures_total',
      'payments_dashboard_failures_total',
      'payments_sign_ins_total',
      'payments_rpc_failures_total',
      'payments_workflow_failures_total',
      // Only delivered ones start at 0: the first attempt that fails is followed by others.
      'payments_webhook_attempts_total',
    ]),
  );
  for (const series of [
    ...['CLAIM', 'HAND_OVER'].map((kind) => `payments_workflow_command_errors_total{kind="${kind}"} `),
    ...['live', 'test'].map((name) => `payments_webhook_expired_deliveries_total{environment="${name}"} 0`),
    ...['internal', 'public'].map((api) => `payments_overload_refusals_total{api="${api}"} 0`),
    ...['sent', 'failed'].map((result) => `payments_mails_total{result="${result}"} 0`),
    ...['accepted', 'refused', 'error'].map(
      (result) =>
        `payments_provider_submissions_total{provider="refund",environment="live",result="${result}"} 0`,
    ),
    ...['live', 'test'].flatMap((name) => [
      `payments_refunds_contradicted_total{environment="${name}"} 0`,
      `payments_payouts_second_total{environment="${name}"} 0`,
    ]),
    'payments_http_failures_total{environment="live"} 0',
    ...['failed', 'succeeded'].map((result) => `payments_sign_ins_total{result="${result}"} 0`),
    ...['dashboard', 'rpc', 'workflow'].map((what) => `payments_${what}_failures_total 0`),
    'payments_webhook_attempts_total{environment="live",outcome="delivered"} 0',
    'payments_funds_differences_total{invariant="HOLD"} 0',
    'payments_area_differences_total{rule="PAYOUT_MISSING"} 0',
    ...['TIMEOUT', 'ERROR'].map((cause) => `payments_funds_verification_failures_total{cause="${cause}"} 0`),
  ]) {
    expect(scraped.filter((line) => line.startsWith(series))).toHaveLength(1);
  }
});

it('Prometheus tests the deployed rules', () => {
  const files = textsOf('services/*/alerts.yaml').map(([path]) => path);
  expect(files.length).toBeGreaterThan(1);
  const tested = testFiles.map(([path, { rule_files }]) =>
    rule_files.map((file) => relative(ROOT, resolve(ROOT, dirname(path), file))),
  );
  expect([...new Set(tested.flat())]).toEqual(files);
});

it('every alert names its section of the runbook, which begins with what people notice', () => {
  for (const { alert, annotations } of rules) {
    const [file, anchor] = annotations.runbook_url.split('#');
    const sections = readFileSync(join(ROOT, file!), 'utf8').split(/^#+ /m);
    const section = sections.find((text) => text.startsWith(`\`${alert}\`\n`));
    expect(section, alert).toMatch(/^[^\n]*\n\n\*\*What people notice\*\*: [A-Z]/);
    expect(anchor).toBe(alert.toLowerCase());
  }
});

it('alerts have unique names', () => {
  const names = rules.map(({ alert }) => alert);
  expect(names).toEqual([...new Set(names)]);
});

it('an invalid expression is detected', () => {
  expect(errorsIn('max(payments_webhook_unowned_lanes > 60')).not.toEqual([]);
  expect(errorsIn('max(payments_webhook_unowned_lanes) > > 60')).not.toEqual([]);
});
