import { Card, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { ConfirmButton, ReasonButton } from '../ui/confirm-button.tsx'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'

/** Shows a pending certification request and its approve and reject buttons. */
export function CertificationCard({ request }: { request: CertificationRequest }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { id, operator_name: name, robot_type: type, note } = request
  const params = { path: { id } }
  const refresh = () => queries.invalidateQueries({ queryKey: keys.certifications })
  const approve = async () => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/approve', { params }))
    await refresh()
  }
  const reject = async (reason: string) => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }))
    await refresh()
  }
  return (
    <Card withBorder padding="sm" component="article" aria-label={`${name}, ${type}`}>
      <Stack gap="xs">
        <div>
          <Text fw={600}>
            {name} · {type}
          </Text>
          <Text size="sm" c="dimmed">
            {textParts('admin.certificationRequest.requested', {
              time: <Time at={request.requested_at} />,
            })}
          </Text>
        </div>
        {note && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{note}</Text>}
        <Group gap="xs">
          <ConfirmButton
            color="teal.9"
            question={t('admin.certificationRequest.approveQuestion', { name, type })}
            consequence={t('admin.certificationRequest.approveConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.approve')}
            confirmColor="teal.9"
            onConfirm={approve}
            aria-label={t('admin.certificationRequest.approveLabel', { name, type })}
          >
            {t('admin.certificationRequest.approve')}
          </ConfirmButton>
          <ReasonButton
            variant="default"
            question={t('admin.certificationRequest.rejectQuestion', { name, type })}
            consequence={t('admin.certificationRequest.rejectConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.reject')}
            onConfirm={reject}
            aria-label={t('admin.certificationRequest.rejectLabel', { name, type })}
          >
            {t('admin.certificationRequest.reject')}
          </ReasonButton>
        </Group>
      </Stack>
    </Card>
  )
}
