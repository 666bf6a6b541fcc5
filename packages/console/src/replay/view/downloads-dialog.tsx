import { Modal, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keys } from '../../platform/queries.ts'
import type { RecordingDownload } from '../../recording/recordings.ts'
import { useRecordingsApi } from '../../recording/use-recordings.ts'
import { t } from '../../texts/texts.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty, QueryView } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const kindTexts: Readonly<Record<RecordingDownload['kind'], string>> = {
  file: t('replay.downloads.file'),
  replay: t('replay.downloads.replay'),
  export: t('replay.downloads.export'),
  foxglove: t('replay.downloads.foxglove'),
}

/** Lists who has read the recording. */
export const DownloadsDialog = (props: { recordingId: string; opened: boolean; onClose: () => void }) => (
  <Modal opened={props.opened} onClose={props.onClose} title={t('replay.downloads.title')} size="lg">
    <Text size="sm" mb="sm">
      {t('replay.downloads.explanation')}
    </Text>
    {props.opened && <Downloads recordingId={props.recordingId} />}
  </Modal>
)

function Downloads({ recordingId }: { recordingId: string }) {
  const api = useRecordingsApi()
  const query = useQuery({
    queryKey: [...keys.recordings, recordingId, 'downloads'],
    queryFn: () => api.downloads(recordingId),
  })
  return (
    <QueryView
      query={query}
      isEmpty={({ downloads }) => downloads.length === 0}
      empty={<Empty title={t('replay.downloads.empty')} />}
    >
      {({ downloads }) => (
        <DataTable
          label={t('replay.downloads.title')}
          minWidth={360}
          columns={[t('replay.downloads.time'), t('replay.downloads.user'), t('replay.downloads.kind')]}
        >
          {downloads.map(({ at, user_id, user_name, kind }) => (
            <Table.Tr key={`${at} ${user_id} ${kind}`}>
              <Table.Td>
                <Time at={at} exact />
              </Table.Td>
              <Table.Td>{user_name ?? t('replay.downloads.link')}</Table.Td>
              <Table.Td>{kindTexts[kind]}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </QueryView>
  )
}
