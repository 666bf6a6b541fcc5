// The audit chain of an organization: how rows are hashed, and the offline check of an export. This file imports nothing, because
// tools/verify-audit.mjs is made from it (npm run cli:docs) and has to run anywhere.

/** How many days rows are kept, by their class. Five years with two leap days, as of Regulation (EU) 2023/1230, Annex III 1.1.9. */
export const auditRetentionDays = { days_90: 90, year_1: 366, years_5: 1_827 }
export type AuditRetention = keyof typeof auditRetentionDays

/** What precedes the first row of a chain. */
export const AUDIT_CHAIN_START = '0'.repeat(64)

/** What stays of a row when its content has been deleted after its time. */
export interface AuditLink {
  readonly organization_id: string
  /** The place in the chain, from 1 without gaps. */
  readonly seq: number
  readonly at: string
  readonly retention: AuditRetention
}

/** The hashes of a row: of its content, of the row before, and of both with the fields of the link. */
export interface AuditHashes {
  readonly content_hash: string
  readonly prev_hash: string
  readonly hash: string
}

/** Returns a JSON value as text with sorted keys, so that equal values have equal texts. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the hash of the content of a row, which is what the row has besides its link. */
export const auditContentHash = (content: Readonly<Record<string, unknown>>): Promise<string> =>
  sha256(canonicalJson(content))

/** Returns the hash of a row from its link and the hash of its content. */
export const auditRowHash = (link: AuditLink, content: string, previous: string): Promise<string> =>
  sha256(canonicalJson([previous, link.organization_id, link.seq, link.at, link.retention, content]))

/** What can be wrong with a row, or with the whole. */
export const auditProblemTexts = {
  no_row: 'it is not a row of an audit log',
  wrong_place: 'another row is expected here',
  other_organization: 'it belongs to another organization',
  not_continued: 'it does not continue the row before',
  deleted_early: 'its content was deleted before its time',
  changed: 'its content has been changed',
  wrong_hash: 'its hash does not match',
  head_missing: 'no row has the noted hash: newer rows are missing',
}
export type AuditProblem = keyof typeof auditProblemTexts

/** What the check of an export has found. `line` is the number of the line, `seq` that of the row if it has one. */
export type AuditVerdict =
  | { readonly ok: true; readonly rows: number; readonly deleted: number; readonly head: string }
  | { readonly ok: false; readonly line: number; readonly seq: number | null; readonly problem: AuditProblem }

/**
 * Checks the chain of an export, a row of JSON in each line, oldest first. Finds rows that were changed, added, removed, moved, or
 * deleted before their time. Nobody can see in an export alone that its newest rows are missing: pass a head that was noted earlier.
 */
export async function verifyAudit(
  lines: Iterable<string> | AsyncIterable<string>,
  { now = new Date(), head }: { readonly now?: Date; readonly head?: string | undefined } = {},
): Promise<AuditVerdict> {
  const chain = { organization: '', rows: 0, deleted: 0, head: AUDIT_CHAIN_START }
  let hasHead = head === undefined || head === AUDIT_CHAIN_START
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const row = rowIn(text)
    if (row === undefined) return { ok: false, line, seq: null, problem: 'no_row' }
    const { content_hash, prev_hash, hash, organization_id, seq, at, retention, ...content } = row
    const broken = (problem: AuditProblem): AuditVerdict => ({ ok: false, line, seq, problem })
    if (seq !== chain.rows + 1) return broken('wrong_place')
    if (chain.rows > 0 && organization_id !== chain.organization) return broken('other_organization')
    if (prev_hash !== chain.head) return broken('not_continued')
    const isDeleted = Object.keys(content).length === 0
    if (isDeleted && !(Date.parse(at) + auditRetentionDays[retention] * 86_400_000 <= now.getTime()))
      return broken('deleted_early')
    if (!isDeleted && content_hash !== (await auditContentHash(content))) return broken('changed')
    if (hash !== (await auditRowHash({ organization_id, seq, at, retention }, content_hash, prev_hash)))
      return broken('wrong_hash')
    chain.organization = organization_id
    chain.rows = seq
    chain.deleted += isDeleted ? 1 : 0
    chain.head = hash
    hasHead ||= hash === head
  }
  if (hasHead) return { ok: true, rows: chain.rows, deleted: chain.deleted, head: chain.head }
  return { ok: false, line, seq: null, problem: 'head_missing' }
}

/** Returns the row in a line, undefined if the line has none. */
function rowIn(text: string): (AuditLink & AuditHashes & Record<string, unknown>) | undefined {
  try {
    const row = JSON.parse(text)
    const { organization_id, seq, at, retention, content_hash, prev_hash, hash } = row
    const texts = [organization_id, at, retention, content_hash, prev_hash, hash]
    const isRow =
      texts.every((value) => typeof value === 'string') &&
      Number.isSafeInteger(seq) &&
      Object.hasOwn(auditRetentionDays, retention)
    canonicalJson(row) // too deep, and it is none
    return isRow ? row : undefined
  } catch {
    return undefined
  }
}

/** Says in a line what the check has found. */
export function describeAuditVerdict(verdict: AuditVerdict): string {
  if (verdict.ok) {
    const deleted = verdict.deleted > 0 ? ` (${verdict.deleted} deleted after their time)` : ''
    return `ok ${verdict.rows} rows${deleted}, head ${verdict.head}`
  }
  const row = verdict.seq === null ? '' : `, row ${verdict.seq}`
  return `broken at line ${verdict.line}${row}: ${auditProblemTexts[verdict.problem]}`
}
