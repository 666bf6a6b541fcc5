import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { useRef, useState } from 'react'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { messageOf } from '../base/message-of.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { filterOf, type SessionSearch } from './list-search.ts'

/** Exports all sessions that match the filter, including those not shown: a large export in the background. */
export function ExportButtons({ search }: { search: SessionSearch }) {
  const { bytes, wasCancelled, cancel, run } = useExport(search)
  return (
    <Group gap="xs">
      {run.isPending ? (
        <Button variant="default" onClick={cancel}>
          {t('session.export.cancel')}
        </Button>
      ) : (
        (['csv', 'json'] as const).map((format) => (
          <Button key={format} variant="default" onClick={() => run.mutate(format)}>
            {format === 'csv' ? t('session.export.csv') : t('session.export.json')}
          </Button>
        ))
      )}
      <LinkButton to="/exports" variant="default">
        {t('session.export.exports')}
      </LinkButton>
      <Text size="sm" role="status" c={run.error ? 'red.9' : undefined}>
        {run.isPending && t('session.export.progress', { size: kilobytes.format(bytes / 1_000) })}
        {run.isSuccess &&
          run.data === undefined &&
          t('session.export.saved', { size: kilobytes.format(bytes / 1_000) })}
        {run.data !== undefined &&
          textParts('session.export.background', {
            link: (
              <LinkAnchor to="/exports" search={{ export: run.data }} inherit>
                {t('session.export.viewProgress')}
              </LinkAnchor>
            ),
          })}
        {run.error && (wasCancelled() ? t('session.export.cancelled') : messageOf(run.error))}
      </Text>
    </Group>
  )
}

/** Returns the mutation that exports sessions. Its result is the id of an export in the background, if it is one. */
function useExport(search: SessionSearch) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [bytes, setBytes] = useState(0)
  const abort = useRef(new AbortController())
  const run = useMutation({
    mutationFn: async (format: 'csv' | 'json'): Promise<string | undefined> => {
      setBytes(0)
      abort.current = new AbortController()
      const { signal } = abort.current
      const filter = filterOf(search)
      const body = { format, ...filter }
      const { direct } = await answerOf(rest.POST('/api/session-exports/count', { body, signal }))
      if (direct) {
        saveFile(await exportSessions(rest, { format, filter, signal }, setBytes))
        return undefined
      }
      // Without the signal: the platform may have created an export whose request was aborted.
      const { id } = await answerOf(rest.POST('/api/session-exports', { body }))
      if (signal.aborted) {
        await answerOf(rest.DELETE('/api/session-exports/{id}', { params: { path: { id } } }))
        signal.throwIfAborted()
      }
      await queries.invalidateQueries({ queryKey: keys.exports })
      return id
    },
  })
  return {
    run,
    bytes,
    cancel: () => abort.current.abort(),
    wasCancelled: () => abort.current.signal.aborted,
  }
}

const kilobytes = new Intl.NumberFormat(language, {
  style: 'unit',
  unit: 'kilobyte',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})

interface ExportFile {
  readonly name: string
  readonly content: Blob
}

/**
 * Downloads the sessions that match a filter.
 * @param onProgress receives the number of bytes so far; the total is unknown
 * @throws ApiError; Error when the download breaks off, so that a partial file is never saved
 */
async function exportSessions(
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

function saveFile({ name, content }: ExportFile): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
