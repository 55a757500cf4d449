{"id": "5", "text": "Ile książek może naraz wypożyczyć czytelnik?"}
{"id": "6", "text": "Kto kontroluje finanse stowarzyszenia?"}
{"id": "7", "text": "Kiedy nie wolno używać kosiarki spalinowej?"}
{"id": "8", "text": "W jakim terminie zwraca się kaucję najemcy?"}
