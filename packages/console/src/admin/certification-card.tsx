import { Card, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ReasonButton } from '../ui/reason-button.tsx'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'

/** A request that waits for a decision. */
export function CertificationCard({ request }: { request: CertificationRequest }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { id, operator_name: name, robot_type: type, note } = request
  const params = { path: { id } }
  const decided = () => queries.invalidateQueries({ queryKey: keys.certifications })
  const approve = async () => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/approve', { params }))
    await decided()
  }
  const reject = async (reason: string) => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }))
    await decided()
  }
  return (
    <Card withBorder padding="sm" component="article" aria-label={`${name}, ${type}`}>
      <Stack gap="xs">
        <div>
          <Text fw={600}>
            {name} · {type}
          </Text>
          <Text size="sm" c="dimmed">
            Asked <Time at={request.requested_at} />
          </Text>
        </div>
        {note && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{note}</Text>}
        <Group gap="xs">
          <ConfirmButton
            color="teal.9"
            question={`Approve ${name} for ${type}?`}
            consequence={`${name} may drive every available robot of this type from now on, and is told so. It can be revoked.`}
            confirmLabel="Approve"
            confirmColor="teal.9"
            onConfirm={approve}
            aria-label={`Approve ${name} for ${type}`}
          >
            Approve
          </ConfirmButton>
          <ReasonButton
            variant="default"
            question={`Reject ${name} for ${type}?`}
            consequence={`${name} reads the reason, and may ask again.`}
            confirmLabel="Reject"
            onConfirm={reject}
            aria-label={`Reject ${name} for ${type}`}
          >
            Reject
          </ReasonButton>
        </Group>
      </Stack>
    </Card>
  )
}
