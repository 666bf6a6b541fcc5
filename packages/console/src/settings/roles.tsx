import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import { useProfileChange } from './use-profile-change.ts'

const roles = {
  client: {
    label: t('common.owner'),
    question: t('settings.roles.removeOwner'),
    consequence: t('settings.roles.ownerConsequence'),
    removeLabel: t('settings.roles.removeOwnerLabel'),
    addLabel: t('settings.roles.addOwnerLabel'),
  },
  operator: {
    label: t('common.operator'),
    question: t('settings.roles.removeOperator'),
    consequence: t('settings.roles.operatorConsequence'),
    removeLabel: t('settings.roles.removeOperatorLabel'),
    addLabel: t('settings.roles.addOperatorLabel'),
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
              consequence={roles[role].consequence}
              confirmLabel={t('settings.roles.remove')}
              onConfirm={() => remove.mutateAsync(role)}
              aria-label={roles[role].removeLabel}
            >
              {t('common.remove')}
            </ConfirmButton>
          ) : (
            <Button
              variant="default"
              size="xs"
              loading={add.isPending && add.variables.role === role}
              onClick={() => add.mutate({ role })}
              aria-label={roles[role].addLabel}
            >
              {t('common.add')}
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
