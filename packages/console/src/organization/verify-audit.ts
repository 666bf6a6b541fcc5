import { type AuditVerdict, verifyAudit } from '@wheelhouse/protocol'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { createPersisted } from '../base/persisted.ts'

/** The longest line that can be a row, in characters. The check rejects the first part of a longer one. */
const MAX_LINE = 1_000_000

/**
 * Downloads the whole audit log of an organization and verifies its chain in this browser, with the code that the command line and
 * tools/verify-audit.mjs use. Holds one line at a time.
 * @param head the hash that an earlier check has noted
 */
export async function downloadAndVerify(
  rest: RestClient,
  {
    id,
    head,
    signal,
  }: { readonly id: string; readonly head: string | undefined; readonly signal: AbortSignal },
): Promise<AuditVerdict> {
  const request = rest.GET('/api/organizations/{id}/audit', {
    params: { path: { id }, query: { format: 'ndjson' } },
    parseAs: 'stream',
    signal,
  })
  const bytes = (await answerOf(request)) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>
  return await verifyAudit(linesOf(bytes), { head })
}

/** Splits a text in UTF-8 into lines. Ends the stream when its reader stops early. */
export async function* linesOf(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (rest.length > MAX_LINE) break
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel()
  }
}

/** The hash that this browser has noted of an organization: rows up to it must be there for good. Empty before the first check. */
export const notedHead = (organizationId: string) =>
  createPersisted(`wheelhouse-audit-head-${organizationId}`, '', String)
