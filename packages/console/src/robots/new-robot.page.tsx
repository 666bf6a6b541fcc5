import { Button, Card, Group, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useEffect, useRef, useState } from 'react'
import { Form, fieldErrors } from '../base/form.tsx'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { ConnectRobot, PairRobot } from './connect-robot.tsx'
import { CertifiedField, RobotFields, type RobotValues } from './robot-fields.tsx'

interface Values extends RobotValues {
  readonly robot_type: string
  readonly hardware_id: string
}
const emptyValues: Values = {
  name: '',
  robot_type: '',
  hardware_id: '',
  stream_url: '',
  tags: [],
  notes: '',
  // Only the owner can open a robot to uncertified operators.
  require_certification: true,
}
const fields = Object.keys(emptyValues) as (keyof Values)[]

/** Registers a robot, then shows its token once and how to connect it. */
export function NewRobotPage() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [values, setValues] = useState(emptyValues)
  const register = useMutation({
    mutationFn: () => {
      const notes = values.notes.trim() === '' ? null : values.notes
      return answerOf(rest.POST('/api/client/robots', { body: { ...values, notes } }))
    },
    // The response contains the token. Drops it with the page.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.robots }),
  })
  if (register.data) {
    const { robot_token, ...robot } = register.data
    return (
      <Page
        title={t('robots.new.connect', { robot: robot.name })}
        actions={
          <LinkButton to="/robots/$robotId" params={{ robotId: robot.id }} variant="default">
            {t('robots.new.done')}
          </LinkButton>
        }
      >
        <Section title={t('robots.connect.oneLine')}>
          <PairRobot robot={robot} isNew />
        </Section>
        <Section title={t('robots.connect.tokenAndFiles')}>
          <ConnectRobot robot={robot} token={robot_token} isSecond />
        </Section>
      </Page>
    )
  }
  return (
    <Page title={t('robots.new.title')} description={t('robots.new.description')}>
      <Card withBorder maw={640}>
        <Fields
          values={values}
          onChange={(change) => setValues((old) => ({ ...old, ...change }))}
          onSubmit={() => register.mutate()}
          busy={register.isPending}
          error={register.error}
        />
      </Card>
    </Page>
  )
}

function Fields(props: {
  values: Values
  onChange: (change: Partial<Values>) => void
  onSubmit: () => void
  busy: boolean
  error: unknown
}) {
  const { values, onChange, error } = props
  const form = useRef<HTMLFormElement>(null)
  const errors = fieldErrors(error, fields)
  // Moves the focus to the first invalid field.
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  return (
    <Form onSubmit={() => props.onSubmit()} ref={form}>
      <RobotFields values={values} errors={errors ?? {}} onChange={onChange}>
        <TextInput
          label={t('robots.fields.type')}
          description={t('robots.fields.typeNote')}
          placeholder={t('robots.fields.typeExample')}
          value={values.robot_type}
          error={errors?.robot_type}
          onChange={({ currentTarget: { value } }) => onChange({ robot_type: value })}
          required
        />
        <TextInput
          label={t('robots.fields.hardwareId')}
          description={t('robots.fields.hardwareIdNote')}
          value={values.hardware_id}
          error={errors?.hardware_id}
          onChange={({ currentTarget: { value } }) => onChange({ hardware_id: value })}
          required
        />
      </RobotFields>
      <CertifiedField
        value={values.require_certification}
        error={errors?.require_certification}
        onChange={(require_certification) => onChange({ require_certification })}
      />
      {!errors && <Problem error={error} />}
      <Group>
        <Button type="submit" loading={props.busy}>
          {t('robots.new.register')}
        </Button>
        <LinkButton to="/robots" variant="default">
          {t('common.cancel')}
        </LinkButton>
      </Group>
    </Form>
  )
}
