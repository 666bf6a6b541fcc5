import { Select, Stack } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { Form, FormFooter } from '../base/form.tsx'
import { Note, QueryView } from '../base/states.tsx'
import { useModels } from '../operator/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { parseSchema, SchemaField, schemaProblem, schemaText } from '../robots/robot-settings-form.tsx'
import { t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'

/** Declares the commands and the telemetry of the supported robot models. */
export const RobotModelsPage = () => (
  <AdminPage title={t('admin.robotModels.title')} description={t('admin.robotModels.description')}>
    <Models />
  </AdminPage>
)

function Models() {
  const models = useModels()
  const [id, setId] = useState<string | null>(null)
  return (
    <QueryView query={models}>
      {({ models }) => (
        <Stack maw={640}>
          <Select
            label={t('admin.robotModels.model')}
            placeholder={t('admin.robotModels.choose')}
            searchable
            data={models.map((model) => ({
              value: model.id,
              label: t('admin.robotModels.option', { name: model.name, manufacturer: model.manufacturer }),
            }))}
            value={id}
            onChange={setId}
          />
          {id !== null && <Model key={id} id={id} />}
        </Stack>
      )}
    </QueryView>
  )
}

const modelKey = (id: string) => ['robot-models', id] as const

function Model({ id }: { id: string }) {
  const query = useRead(modelKey(id), (rest, { signal }) =>
    rest.GET('/api/robots/{id}', { params: { path: { id } }, signal }),
  )
  return <QueryView query={query}>{(model) => <SchemaForm model={model} />}</QueryView>
}

/** Edits the schemas of a model. A refetch does not overwrite the typed texts. */
function SchemaForm({ model }: { model: Schemas['RobotModelDetail'] }) {
  const [control, setControl] = useState(schemaText(model.control_schema))
  const [telemetry, setTelemetry] = useState(schemaText(model.telemetry_schema))
  const save = useWrite(
    (rest, body: Pick<typeof model, 'control_schema' | 'telemetry_schema'>) =>
      rest.PATCH('/api/admin/robot-models/{id}', { params: { path: { id: model.id } }, body }),
    { stores: modelKey(model.id) },
  )
  const change = (set: (text: string) => void) => (text: string) => {
    if (save.isSuccess) save.reset() // hides "Saved"
    set(text)
  }
  const submit = () => {
    if (schemaProblem(control) !== undefined || schemaProblem(telemetry) !== undefined) return
    save.mutate({ control_schema: parseSchema(control), telemetry_schema: parseSchema(telemetry) })
  }
  return (
    <Form onSubmit={submit}>
      <Note>{t('admin.robotModels.note', { type: model.robot_type })}</Note>
      <SchemaField
        label={t('admin.robotModels.control')}
        description={t('admin.robotModels.controlNote')}
        value={control}
        onChange={change(setControl)}
      />
      <SchemaField
        label={t('admin.robotModels.telemetry')}
        description={t('admin.robotModels.telemetryNote')}
        value={telemetry}
        onChange={change(setTelemetry)}
      />
      <FormFooter change={save} />
    </Form>
  )
}
