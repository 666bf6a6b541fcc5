import { Button, Group, List, Modal, NativeSelect, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CopyableSecret } from '../base/secret.tsx'
import { Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import type { RecordingShare } from '../recording/recordings.ts'
import { useRecordingsApi } from '../recording/use-recordings.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { momentAddress } from './open-replay.ts'
import type { Replay } from './player/replay.ts'
import { preciseClock } from './view/replay-time.ts'

const HOUR_CHOICES = [
  ['1', t('replay.share.hour')],
  ['24', t('replay.share.day')],
  ['168', t('replay.share.week')],
  ['720', t('replay.share.month')],
] as const

interface Props {
  readonly recordingId: string
  readonly replay: Replay
}

/** Creates links that expire, lists and revokes them. */
export const ShareDialog = ({
  opened,
  onClose,
  ...props
}: Props & { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t('replay.share.title')}>
    {opened && <Shares {...props} />}
  </Modal>
)

function Shares({ recordingId, replay }: Props) {
  const api = useRecordingsApi()
  const queries = useQueryClient()
  const queryKey = [...keys.recordings, recordingId, 'shares']
  const shares = useQuery({ queryKey, queryFn: () => api.shares(recordingId) })
  const [hours, setHours] = useState<string>('24')
  const [startsHere, setStartsHere] = useState(false)
  const [positionMs] = useState(() => replay.clock.position.get() - replay.startMs)
  const onSettled = () => queries.invalidateQueries({ queryKey })
  const create = useMutation({
    mutationFn: async () => {
      const { url } = await api.share(recordingId, { expires_in_hours: Number(hours) })
      return startsHere ? momentAddress(url, positionMs) : url
    },
    onSettled,
  })
  const revoke = useMutation({ mutationFn: (id: string) => api.revokeShare(recordingId, id), onSettled })
  return (
    <Stack>
      <Text size="sm">{t('replay.share.explanation')}</Text>
      <NativeSelect
        label={t('replay.share.expires')}
        data={HOUR_CHOICES.map(([value, label]) => ({ value, label }))}
        value={hours}
        onChange={({ currentTarget: { value } }) => setHours(value)}
      />
      <Switch
        label={t('replay.share.startsHere', { position: preciseClock(positionMs) })}
        checked={startsHere}
        onChange={({ currentTarget: { checked } }) => setStartsHere(checked)}
      />
      <Group>
        <Button loading={create.isPending} onClick={() => create.mutate()}>
          {t('replay.share.create')}
        </Button>
      </Group>
      <Problem error={create.error ?? revoke.error} />
      {create.data && <CopyableSecret label={t('replay.share.link')} value={create.data} />}
      <QueryView query={shares} isEmpty={({ shares }) => shares.length === 0} empty={null}>
        {({ shares }) => (
          <List listStyleType="none" aria-label={t('replay.share.links')}>
            {shares.map((share) => (
              <List.Item key={share.id} py={2}>
                <Group justify="space-between" gap="xs">
                  <Text size="sm">{shareText(share)}</Text>
                  {isValid(share) && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => revoke.mutate(share.id)}
                      loading={revoke.isPending && revoke.variables === share.id}
                    >
                      {t('replay.share.revoke')}
                    </Button>
                  )}
                </Group>
              </List.Item>
            ))}
          </List>
        )}
      </QueryView>
    </Stack>
  )
}

const isValid = ({ revoked_at, expires_at }: RecordingShare) =>
  revoked_at === null && Date.parse(expires_at) > Date.now()

function shareText(share: RecordingShare) {
  const created = <Time at={share.created_at} exact />
  if (share.revoked_at !== null) return textParts('replay.share.revoked', { created })
  const expires = <Time at={share.expires_at} exact />
  return isValid(share)
    ? textParts('replay.share.valid', { created, expires })
    : textParts('replay.share.expired', { created })
}
