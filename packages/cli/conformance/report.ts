import type { Verdict } from './rule.ts'

/** The result of a run, as `--json` prints it. */
export interface Report {
  readonly subject: 'robot' | 'operator'
  /** The version of the kit. */
  readonly version: string
  readonly at: string
  readonly passed: number
  readonly failed: number
  readonly not_tested: number
  readonly rules: readonly Verdict[]
}

/** Counts the verdicts. */
export function createReport(
  subject: Report['subject'],
  version: string,
  rules: readonly Verdict[],
  now = new Date(),
): Report {
  const count = (outcome: Verdict['outcome']) => rules.filter((rule) => rule.outcome === outcome).length
  return {
    subject,
    version,
    at: now.toISOString(),
    passed: count('passed'),
    failed: count('failed'),
    not_tested: count('not tested'),
    rules,
  }
}

/** Returns what a verdict says in one line. */
export const summaryOf = (verdict: Verdict): string =>
  verdict.outcome === 'not tested' ? verdict.reason : `${verdict.measured} (${verdict.limit})`

/** Returns the report for CI servers, in the format of JUnit. */
export function junit({ subject, at, rules, failed, not_tested }: Report): string {
  const inSeconds = (ms: number) => (ms / 1_000).toFixed(3)
  const totalMs = rules.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
  const cases = rules.map((rule) => {
    const name = `${rule.id}: ${rule.title}`
    const open = `    <testcase classname="wheelhouse.conformance.${subject}" name=${quoted(name)} time="${inSeconds(rule.duration_ms)}">`
    const said = quoted(summaryOf(rule))
    if (rule.outcome === 'failed')
      return `${open}<failure message=${said} type="violation">${escapeXml(rule.duty)}</failure></testcase>`
    if (rule.outcome === 'not tested') return `${open}<skipped message=${said}/></testcase>`
    return `${open}<system-out>${escapeXml(summaryOf(rule))}</system-out></testcase>`
  })
  const counts = `tests="${rules.length}" failures="${failed}" errors="0" skipped="${not_tested}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${inSeconds(totalMs)}">`,
    `  <testsuite name="Wheelhouse conformance: ${subject}" ${counts} time="${inSeconds(totalMs)}" timestamp="${at}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const CHARACTER_PX = 6.6
const PADDING_PX = 7
const PASSED_COLOUR = '#2e7d32'
const FAILED_COLOUR = '#c62828'

/** Returns a static picture of the result for a README: no script, no address. */
export function badge({ subject, passed, failed }: Report): string {
  const label = `Wheelhouse ${subject}`
  const result = failed === 0 ? `${passed} rules passed` : `${failed} of ${passed + failed} rules failed`
  const widthOf = (text: string) => Math.round(text.length * CHARACTER_PX) + 2 * PADDING_PX
  const [left, right] = [widthOf(label), widthOf(result)]
  const colour = failed === 0 ? PASSED_COLOUR : FAILED_COLOUR
  const text = (content: string, middle: number) =>
    `<text x="${middle}" y="14" fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11" text-anchor="middle">${escapeXml(content)}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label=${quoted(`${label}: ${result}`)}>`,
    `<title>${escapeXml(`${label}: ${result}`)}</title>`,
    `<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>`,
    text(label, left / 2),
    text(result, left + right / 2),
    '</svg>',
    '',
  ].join('')
}

/** Characters that XML 1.0 cannot contain, also not escaped. */
const NOT_IN_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escapeXml = (text: string) =>
  text.replace(NOT_IN_XML, '\ufffd').replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
const quoted = (text: string) => `"${escapeXml(text).replace(/[\t\n\r]/g, ' ')}"`
