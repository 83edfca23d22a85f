import { dataCapabilities } from '../capabilities.ts';
import { countries } from '../interface/countries.ts';
import { enumeration, flag, instant, list, optional, record, required, type Static, text } from './fields.ts';

/** Interface 3.19.2 Vehicle.motorization. The wire carries positions in this list: append only. */
export const motorizations = ['Electric', 'Hybrid', 'Thermic', 'Hydrogen'] as const;

/** Largest number of pictures of a car. Interface 3.19.2 VehiclePictures. */
export const MAX_PICTURES = 12;

const address = text('Address of a picture.', { maxLength: 2_000 });

const facts = {
  motorization: required(3, enumeration('Propulsion. Interface 3.19.2 Vehicle.motorization.', motorizations)),
  brand: optional(4, text('Make. Interface 3.19.2 VehicleBranding.brand.')),
  label: optional(5, text('Name of the model. Interface 3.19.2 VehicleBranding.label.')),
  pictures: optional(6, list('Interface 3.19.2 VehiclePictures.', address, { maxItems: MAX_PICTURES })),
  callCenters: optional(
    7,
    list(
      'Call centres for stolen cars. Interface 4.17.2 StolenCallCenter.',
      record('VehicleCallCenter', 'The call centre of one country.', {
        country: required(1, enumeration('Country (ISO 3166-1 alpha-2).', countries)),
        phoneNumber: required(2, text('Its telephone number.')),
      }),
      { maxItems: countries.length },
    ),
  ),
  data: required(
    8,
    list(
      'Data that the car provides. Interface 3.19.2 OnboardCapabilities.data.',
      enumeration('Name of data.', dataCapabilities),
    ),
  ),
  actions: required(9, list('Actions of the profile for commands.', text('An action, such as `doors.lock`.'))),
  commands: required(10, flag('Whether the car accepts commands: there are keys that may sign them.')),
  catalog: optional(
    11,
    text('Catalog of the custom signals of the profile, in hexadecimal as in its topic; absent: there are none.', {
      maxLength: 16,
    }),
  ),
};

/** Body of a `vehicle` message: what the profile and the configuration of the car contain for the interface. */
export const vehicleSchema = record('VehicleDescription', 'What the car tells of itself.', {
  createdAt: required(0, instant('When it did so first. Interface 4.17.2 Vehicle.createdAt.')),
  updatedAt: optional(2, instant('When it last changed. Interface 4.17.2 Vehicle.updatedAt.')),
  ...facts,
});
export type VehicleBody = Static<typeof vehicleSchema>;

/** The description without its times. */
export type VehicleFacts = Omit<VehicleBody, 'createdAt' | 'updatedAt'>;
