import { Button, Group, Modal, NativeSelect, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { DialogButtons, Form } from '../base/form.tsx'
import { Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { memberMay, useMay, useOrganizations } from '../platform/organization.ts'
import { keys } from '../platform/queries.ts'
import { byId, useWrite } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { type Robot, robotKey } from './use-robots.ts'

/** Offers to transfer a robot to another organization of the user, if there is one where the user may register robots. */
export function TransferRobot({ robot }: { robot: Robot }) {
  const { acting, all } = useOrganizations()
  const may = useMay()
  const targets = all.filter(
    (organization) =>
      organization.id !== acting.id &&
      organization.group_ids === null &&
      memberMay(organization, 'robots.write'),
  )
  const [opened, { open, close }] = useDisclosure(false)
  const [target = targets[0]?.id ?? '', setTarget] = useState<string>()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const transfer = useWrite(
    (rest) =>
      rest.POST('/api/client/robots/{id}/transfer', { ...byId(robot.id), body: { organizationId: target } }),
    {
      onSuccess: async () => {
        await navigate({ to: '/robots' })
        queries.removeQueries({ queryKey: robotKey(robot.id) })
      },
      refresh: [keys.robots],
    },
  )
  if (targets.length === 0 || !may('robots.transfer')) return null
  return (
    <Section title={t('robots.transfer.title')}>
      <Group justify="space-between">
        <Text c="dimmed" maw={640}>
          {t('robots.transfer.note')}
        </Text>
        <Button variant="default" onClick={open}>
          {t('robots.transfer.open')}
        </Button>
      </Group>
      <Modal
        opened={opened}
        onClose={close}
        title={t('robots.transfer.question', { robot: robot.name })}
        onExitTransitionEnd={transfer.reset}
      >
        <Form onSubmit={() => transfer.mutate()}>
          <NativeSelect
            label={t('robots.transfer.target')}
            data={targets.map(({ id, name }) => ({ value: id, label: name }))}
            value={target}
            onChange={({ currentTarget: { value } }) => setTarget(value)}
            data-autofocus
          />
          <Problem error={transfer.error} />
          <DialogButtons onCancel={close} loading={transfer.isPending}>
            {t('robots.transfer.confirm')}
          </DialogButtons>
        </Form>
      </Modal>
    </Section>
  )
}
