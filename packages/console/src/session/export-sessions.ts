import { answerOf, type RestClient } from '@wheelhouse/sdk'
import type { filterOf } from './load-sessions.ts'

export interface ExportFile {
  readonly name: string
  readonly content: Blob
}

/**
 * Downloads the sessions that pass a filter.
 * @param onProgress is told how many bytes have come; how many will come nobody knows
 * @throws ApiError; Error when the download is broken off, so that a part is never taken for the whole
 */
export async function exportSessions(
  rest: RestClient,
  job: { format: 'csv' | 'json'; filter: ReturnType<typeof filterOf>; signal: AbortSignal },
  onProgress: (bytes: number) => void,
): Promise<ExportFile> {
  const { format, filter, signal } = job
  const answer = rest.POST('/api/sessions/export', { body: { format, ...filter }, parseAs: 'stream', signal })
  const stream = (await answerOf(answer)) as ReadableStream<Uint8Array<ArrayBuffer>>
  const { response } = await answer
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown): never => {
      if (signal.aborted) throw cause
      throw new Error('The download was broken off; nothing was saved', { cause })
    })
    if (done) break
    parts.push(value)
    bytes += value.length
    onProgress(bytes)
  }
  const type = format === 'csv' ? 'text/csv' : 'application/json'
  return { name: nameIn(response) ?? `sessions.${format}`, content: new Blob(parts, { type }) }
}

const nameIn = (response: Response) =>
  /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1]

/** Hands a file to the browser's downloads. */
export function saveFile({ name, content }: ExportFile): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
