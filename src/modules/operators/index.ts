export { createOperators, operatorsEndpoints } from './facade.ts'
