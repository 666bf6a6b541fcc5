import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import { messageOf } from '../ui/message-of.ts'
import { exportSessions, saveFile } from './export-sessions.ts'
import type { ListSearch } from './list-search.ts'
import { filterOf } from './load-sessions.ts'

/** Exports all sessions that match the filter, including those not shown. */
export function ExportButtons({ search }: { search: ListSearch }) {
  const { rest } = usePlatform()
  const [bytes, setBytes] = useState(0)
  const abort = useRef(new AbortController())
  const download = useMutation({
    mutationFn: async (format: 'csv' | 'json') => {
      setBytes(0)
      abort.current = new AbortController()
      const { signal } = abort.current
      saveFile(await exportSessions(rest, { format, filter: filterOf(search), signal }, setBytes))
    },
  })
  return (
    <Group gap="xs">
      {download.isPending ? (
        <Button variant="default" onClick={() => abort.current.abort()}>
          Cancel export
        </Button>
      ) : (
        (['csv', 'json'] as const).map((format) => (
          <Button key={format} variant="default" onClick={() => download.mutate(format)}>
            Export {format.toUpperCase()}
          </Button>
        ))
      )}
      <Text size="sm" role="status" c={download.error ? 'red.9' : undefined}>
        {download.isPending && `${kilobytes(bytes)} so far`}
        {download.isSuccess && `Saved, ${kilobytes(bytes)}`}
        {download.error && (abort.current.signal.aborted ? 'Cancelled' : messageOf(download.error))}
      </Text>
    </Group>
  )
}

const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`
