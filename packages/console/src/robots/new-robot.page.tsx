import { Button, Card, Group, TextInput } from '@mantine/core'
import { Form, useFields, useFocusOnError } from '../base/form.tsx'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { keys } from '../platform/queries.ts'
import { useWrite } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { ConnectRobot, PairRobot } from './connect-robot.tsx'
import { CertifiedField, RobotFields } from './robot-settings-form.tsx'

const emptyValues = {
  name: '',
  robot_type: '',
  hardware_id: '',
  stream_url: '',
  tags: [] as string[],
  notes: '',
  // Only the owner can open a robot to uncertified operators.
  require_certification: true,
}

/** Registers a robot, then shows its token once and how to connect it. */
export function NewRobotPage() {
  const register = useWrite(
    (rest, values: typeof emptyValues) => {
      const notes = values.notes.trim() === '' ? null : values.notes
      return rest.POST('/api/client/robots', { body: { ...values, notes } })
    },
    // The response contains the token. Drops it with the page.
    { gcTime: 0, refresh: [keys.robots] },
  )
  const { values, field, errors } = useFields(emptyValues, register.error)
  const form = useFocusOnError(register.error)
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
      <Card maw={640}>
        <Form onSubmit={() => register.mutate(values)} ref={form}>
          <RobotFields field={field}>
            <TextInput
              label={t('robots.fields.type')}
              description={t('robots.fields.typeNote')}
              placeholder={t('robots.fields.typeExample')}
              required
              {...field('robot_type')}
            />
            <TextInput
              label={t('robots.fields.hardwareId')}
              description={t('robots.fields.hardwareIdNote')}
              required
              {...field('hardware_id')}
            />
          </RobotFields>
          <CertifiedField field={field} />
          {!errors && <Problem error={register.error} />}
          <Group>
            <Button type="submit" loading={register.isPending}>
              {t('robots.new.register')}
            </Button>
            <LinkButton to="/robots" variant="default">
              {t('common.cancel')}
            </LinkButton>
          </Group>
        </Form>
      </Card>
    </Page>
  )
}
