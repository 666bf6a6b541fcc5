import { Button, type ButtonProps, Modal, MultiSelect, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { OrganizationRole } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { Problem } from '../base/states.tsx'
import { useOrganization } from '../platform/organization.ts'
import { t } from '../texts/texts.ts'
import { roleOptions, useGroups } from './organization.ts'

/** What a member may do, as a form has it: no groups means all robots. */
export interface Rights {
  readonly role: OrganizationRole
  readonly groupIds: string[]
}

export const groupIdsOf = ({ role, groupIds }: Rights) =>
  role === 'owner' || groupIds.length === 0 ? null : groupIds

const roleNotes: Readonly<Record<OrganizationRole, string>> = {
  owner: t('organization.roleNotes.owner'),
  admin: t('organization.roleNotes.admin'),
  supervisor: t('organization.roleNotes.supervisor'),
  operator: t('organization.roleNotes.operator'),
  viewer: t('organization.roleNotes.viewer'),
  billing: t('organization.roleNotes.billing'),
}

/** Renders the fields of what a member may do: role and groups. A program is no owner, who answers for the organization. */
export function RightsFields(props: {
  readonly values: Rights
  readonly change: (part: Partial<Rights>) => void
  readonly ofProgram?: boolean
}) {
  const { values, change, ofProgram = false } = props
  const { role: ownRole } = useOrganization()
  const groups = useGroups().data?.groups ?? []
  const options = roleOptions(ofProgram ? 'admin' : ownRole)
  return (
    <>
      <Select
        label={t('organization.members.role')}
        description={roleNotes[values.role]}
        data={options}
        value={values.role}
        onChange={(value) => change({ role: options.find((option) => option.value === value)?.value })}
        allowDeselect={false}
      />
      {groups.length > 0 && (
        <MultiSelect
          label={t('organization.members.groups')}
          description={t('organization.members.groupsNote')}
          data={groups.map(({ id, name }) => ({ value: id, label: name }))}
          value={values.role === 'owner' ? [] : values.groupIds}
          onChange={(groupIds) => change({ groupIds })}
          disabled={values.role === 'owner'}
          searchable
        />
      )}
    </>
  )
}

interface NameChange {
  readonly error: Error | null
  readonly isPending: boolean
  readonly mutate: (name: string, options: { onSuccess: () => void }) => void
  readonly reset: () => void
}

/** Renders a button that asks for a name in a dialog: of a team, of a group. */
export function NameButton(
  props: ButtonProps & {
    readonly change: NameChange
    readonly title: string
    readonly note?: string
    readonly initial?: string
    readonly confirmLabel: string
    readonly 'aria-label'?: string
    readonly children: ReactNode
  },
) {
  const { change, title, note, initial = '', confirmLabel, ...button } = props
  const [opened, { open, close }] = useDisclosure(false)
  const { values, setValues, field, errors } = useFields({ name: initial }, change.error)
  const start = () => {
    change.reset()
    setValues({ name: initial })
    open()
  }
  return (
    <>
      <Button variant="default" {...button} onClick={start} />
      <Modal opened={opened} onClose={close} title={title}>
        <Form onSubmit={() => change.mutate(values.name.trim(), { onSuccess: close })}>
          <TextInput
            label={t('organization.name')}
            description={note}
            maxLength={100}
            required
            data-autofocus
            {...field('name')}
          />
          {!errors && <Problem error={change.error} />}
          <DialogButtons onCancel={close} loading={change.isPending}>
            {confirmLabel}
          </DialogButtons>
        </Form>
      </Modal>
    </>
  )
}
