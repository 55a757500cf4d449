{"id": "1", "text": "W jakim mieście urodził się Mikołaj Kopernik?"}
{"id": "2", "text": "Które jezioro w Tatrach jest największe?"}
{"id": "3", "text": "Ile waży dorosły żubr?"}
{"id": "4", "text": "Za co Maria Skłodowska-Curie dostała Nagrody Nobla?"}
