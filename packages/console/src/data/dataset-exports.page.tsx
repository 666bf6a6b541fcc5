import { Button, Code, CopyButton, Stack, Text } from '@mantine/core'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { dataSize } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { ExportRow } from '../list/export-row.tsx'
import type { DatasetExport } from '../recording/recordings.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { isRunning, reasonText, useDatasetExports, useRemoveExport } from './use-datasets.ts'

const BYTES_PER_MB = 1_000_000

const states = {
  PENDING: [t('data.exports.pending'), 'request'],
  RUNNING: [t('data.exports.running'), 'request'],
  READY: [t('data.exports.ready'), 'off'],
  FAILED: [t('data.exports.failed'), 'delayed'],
} as const

export const DatasetExportsPage = () => (
  <Page
    title={t('data.exports.title')}
    description={t('data.exports.description')}
    link={['/datasets', t('data.dataset.all')]}
  >
    <QueryView
      query={useDatasetExports()}
      isEmpty={({ exports }) => exports.length === 0}
      empty={<Empty title={t('data.exports.emptyTitle')}>{t('data.exports.emptyText')}</Empty>}
    >
      {({ exports }) => (
        <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('data.exports.title')}>
          {exports.map((stored) => (
            <Row key={stored.id} stored={stored} />
          ))}
        </Stack>
      )}
    </QueryView>
  </Page>
)

function downloadCommand(baseUrl: string): string {
  const [owner, name] = baseUrl.split('/').slice(2)
  return t('data.exports.command', { origin: location.origin, repository: `${owner}/${name}` })
}

function Row({ stored }: { stored: DatasetExport }) {
  const { id, name, status, fps, episodes, frames, size_bytes, base_url, error, created_at } = stored
  const remove = useRemoveExport(id)
  return (
    <ExportRow
      id={id}
      name={name}
      state={states[status]}
      progress={
        isRunning(stored)
          ? { percent: stored.progress * 100, label: t('data.exports.progress', { name }) }
          : undefined
      }
      error={error}
      dates={textParts('data.exports.rate', { fps, created: <Time at={created_at} /> })}
      actions={
        <>
          {status === 'READY' && (
            <CopyButton value={downloadCommand(base_url)}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy} aria-live="polite">
                  {copied ? t('data.exports.copied') : t('data.exports.copy')}
                </Button>
              )}
            </CopyButton>
          )}
          <ConfirmButton
            size="xs"
            question={t('data.exports.removeQuestion', { name })}
            consequence={t('data.exports.removeConsequence')}
            confirmLabel={t('data.exports.remove')}
            onConfirm={() => remove.mutateAsync()}
          >
            {t('data.exports.remove')}
          </ConfirmButton>
        </>
      }
    >
      <Text size="sm">
        {t('data.exports.content', {
          count: episodes,
          frames: frames.toLocaleString(language),
          size: dataSize(size_bytes / BYTES_PER_MB),
        })}
      </Text>
      {stored.left_out.count > 0 && <LeftOut leftOut={stored.left_out} />}
      {status === 'READY' && <Code style={{ overflowWrap: 'anywhere' }}>{location.origin + base_url}</Code>}
    </ExportRow>
  )
}

/** Names the episodes that are not in the dataset, with the reasons. */
const LeftOut = ({ leftOut: { count, episodes } }: { leftOut: DatasetExport['left_out'] }) => (
  <Text size="sm" component="details">
    <summary>{t('data.exports.leftOut', { count })}</summary>
    {episodes.map(({ id, episode_id, reason, missing_seconds }) => (
      <div key={id} style={{ overflowWrap: 'anywhere' }}>
        {t(reason === 'gaps' ? 'data.exports.leftOutGaps' : 'data.exports.leftOutEpisode', {
          episode: episode_id,
          reason: reasonText(reason),
          seconds: Math.round(missing_seconds),
        })}
      </div>
    ))}
    {count > episodes.length && t('data.exports.leftOutMore', { count: count - episodes.length })}
  </Text>
)
