{"id": "9", "text": "Moja przesyłka nie dotarła, co robić?"}
{"id": "10", "text": "Jak zmienić hasło do konta?"}
{"id": "11", "text": "Gdzie znajdę fakturę za zamówienie?"}
{"id": "12", "text": "Chcę odesłać towar i odstąpić od umowy"}
