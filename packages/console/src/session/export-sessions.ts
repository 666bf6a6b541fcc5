import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'
import type { filterOf } from './list-search.ts'

interface ExportFile {
  readonly name: string
  readonly content: Blob
}

/**
 * Downloads the sessions that match a filter.
 * @param onProgress receives the number of bytes so far; the total is unknown
 * @throws ApiError; Error when the download breaks off, so that a partial file is never saved
 */
export async function exportSessions(
  rest: RestClient,
  job: { format: 'csv' | 'json'; filter: ReturnType<typeof filterOf>; signal: AbortSignal },
  onProgress: (bytes: number) => void,
): Promise<ExportFile> {
  const { format, filter, signal } = job
  const request = rest.POST('/api/sessions/export', {
    body: { format, ...filter },
    parseAs: 'stream',
    signal,
  })
  const stream = (await answerOf(request)) as ReadableStream<Uint8Array<ArrayBuffer>>
  const { response } = await request
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown): never => {
      if (signal.aborted) throw cause
      throw new Error(t('session.export.interrupted'), { cause })
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

/** Saves a file to the browser's downloads. */
export function saveFile({ name, content }: ExportFile): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
