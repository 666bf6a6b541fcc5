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
    label: 'Owner',
    question: 'Remove the owner role?',
    consequence:
      'Your sessions and invoices are kept. You must first remove your robots and end or cancel your sessions.',
  },
  operator: {
    label: 'Operator',
    question: 'Remove the operator role?',
    consequence:
      'Your sessions, certifications and earnings are kept. You must first end or cancel your sessions.',
  },
} as const

/** Adds and removes roles of the user. */
export function RolesSection() {
  const me = useMe()
  const remove = useRemoveRole()
  const add = useProfileChange()
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
              consequence={`${roles[role].consequence} You can add the role again.`}
              confirmLabel="Remove role"
              onConfirm={() => remove.mutateAsync(role)}
              aria-label={`Remove role: ${roles[role].label}`}
            >
              Remove
            </ConfirmButton>
          ) : (
            <Button
              variant="default"
              size="xs"
              loading={add.isPending && add.variables.role === role}
              onClick={() => add.mutate({ role })}
              aria-label={`Add role: ${roles[role].label}`}
            >
              Add
            </Button>
          )}
        </Group>
      ))}
      <Problem error={add.error} />
    </Stack>
  )
}

function useRemoveRole() {
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
