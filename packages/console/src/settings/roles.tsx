import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useMe } from '../auth/me.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import { useProfileChange } from './use-profile-change.ts'

const roles = {
  client: {
    label: 'Owner of robots',
    question: 'Stop being an owner of robots?',
    consequence:
      'Your sessions and invoices stay. You need to have no robots, and no session that is open or scheduled.',
  },
  operator: {
    label: 'Operator',
    question: 'Stop being an operator?',
    consequence:
      'Your sessions, certifications and earnings stay. You need to have no session that is open or scheduled.',
  },
} as const

/** The roles of this person: to be taken, and to be dropped. */
export function RolesSection() {
  const me = useMe()
  const drop = useDropRole()
  const take = useProfileChange()
  return (
    <Stack gap="xs">
      {(['client', 'operator'] as const).map((role) => (
        <Group key={role} justify="space-between" maw={480}>
          <Text>{roles[role].label}</Text>
          {me.roles.includes(role) ? (
            <ConfirmButton
              variant="default"
              size="xs"
              question={roles[role].question}
              consequence={`${roles[role].consequence} You can take the role again.`}
              confirmLabel="Drop the role"
              onConfirm={() => drop.mutateAsync(role)}
              aria-label={`Drop the role: ${roles[role].label}`}
            >
              Drop
            </ConfirmButton>
          ) : (
            <Button
              variant="default"
              size="xs"
              loading={take.isPending && take.variables.role === role}
              onClick={() => take.mutate({ role })}
              aria-label={`Take the role: ${roles[role].label}`}
            >
              Take
            </Button>
          )}
        </Group>
      ))}
      <Problem error={take.error} />
    </Stack>
  )
}

function useDropRole() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (role: 'client' | 'operator') =>
      answerOf(rest.DELETE('/api/auth/roles/{role}', { params: { path: { role } } })),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: keys.profile }),
        queries.invalidateQueries({ queryKey: keys.onboarding }),
      ]),
  })
}
