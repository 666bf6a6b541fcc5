import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ContactReceipt, SendContact } from './contact.schema.ts'
import type { Contact } from './contact.service.ts'

const DELIVERED = 'Thank you. Your message has reached us.'
const STORED = 'Thank you. Your message is stored and will be delivered to us shortly.'

/** Returns the route of the contact form. */
export function contactEndpoints({ contact }: { contact: Contact }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/contact',
      summary: 'Submits a contact form message. It is stored, then delivered by e-mail',
      access: 'public',
      body: SendContact,
      response: [201, ContactReceipt],
      run: async ({ body }) => {
        const { id, delivered } = await contact.submit(body)
        return { success: true, message: delivered ? DELIVERED : STORED, id, stored: true, delivered }
      },
    }),
  ]
}
