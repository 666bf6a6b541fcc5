import { Group, Text } from '@mantine/core'
import { RecordingStatusBadge } from '../replay/recording-status.tsx'
import { useSessionRecording } from '../replay/use-recordings.ts'
import { t } from '../texts/texts.ts'
import { dataSize } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { recordedText } from './recording-texts.ts'

/** Leads to the replay of a session; nothing for a session without a recording. */
export function SessionRecording({ sessionId }: { sessionId: string }) {
  const recording = useSessionRecording(sessionId).data
  if (!recording) return null
  const { mode, size_bytes, gaps, status } = recording
  const hasGaps = status !== 'RECORDING' && gaps.length > 0
  return (
    <Section gap="xs" title={t('recording.section.title')}>
      <Group justify="space-between">
        <Group gap="sm">
          <RecordingStatusBadge recording={recording} />
          <Text size="sm">
            {t('recording.section.content', {
              what: recordedText(mode),
              size: dataSize(size_bytes / 1_000_000),
            })}
          </Text>
          {hasGaps && (
            <Text size="sm" c="dimmed">
              {t('replay.header.gaps', { count: gaps.length })}
            </Text>
          )}
        </Group>
        <ReplayLink sessionId={sessionId} isLive={status === 'RECORDING'} />
      </Group>
    </Section>
  )
}

const ReplayLink = ({ sessionId, isLive }: { sessionId: string; isLive: boolean }) => (
  <LinkButton to="/sessions/$sessionId/replay" params={{ sessionId }} variant={isLive ? 'default' : 'filled'}>
    {isLive ? t('recording.section.scrubBack') : t('recording.section.replay')}
  </LinkButton>
)
